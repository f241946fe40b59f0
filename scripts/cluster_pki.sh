# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Certificates of a cluster in DIR/pki, kubeconfig files with them, and certificates of its store in DIR/store. Sourced.

PKI_DAYS=30

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1" 2>/dev/null; }

# authority FOLDER NAME: creates a CA, FOLDER/ca.crt and FOLDER/ca.key.
authority() {
  mkdir -p "$1"
  new_key "$1/ca.key"
  openssl req -x509 -new -key "$1/ca.key" -days $PKI_DAYS -subj "/CN=$2" -out "$1/ca.crt" 2>/dev/null
}

# leaf FILE SUBJECT [SUBJECT-ALTERNATIVE-NAMES]: creates FILE.crt and FILE.key, signed by the CA in the same folder.
leaf() {
  local file=$1 folder names=${3:-}
  folder=$(dirname -- "$file")
  new_key "$file.key"
  openssl req -new -key "$file.key" -subj "$2" -out "$file.csr" 2>/dev/null
  openssl x509 -req -in "$file.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -CAcreateserial -days $PKI_DAYS \
    -extfile <(echo 'extendedKeyUsage=serverAuth,clientAuth' && [ -z "$names" ] || echo "subjectAltName=$names") \
    -out "$file.crt" 2>/dev/null
  rm "$file.csr"
}

# kubeconfig FILE LEAF
kubeconfig() {
  cat >"$1" <<YAML
apiVersion: v1
kind: Config
current-context: $NAME
contexts: [{name: $NAME, context: {cluster: $NAME, user: $2}}]
clusters:
  - name: $NAME
    cluster: {server: "https://$NODE_IP:6443", certificate-authority: "$DIR/pki/ca.crt"}
users:
  - name: $2
    user: {client-certificate: "$DIR/pki/$2.crt", client-key: "$DIR/pki/$2.key"}
YAML
  chmod 600 "$1"
}

make_pki() {
  local program pki=$DIR/pki
  authority "$pki" "$NAME"
  leaf "$pki/apiserver" /CN=kube-apiserver "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,\
DNS:kubernetes.default.svc.cluster.local,DNS:localhost,IP:127.0.0.1,IP:$NODE_IP,IP:$API_IP"
  leaf "$pki/kubelet-client" /O=system:masters/CN=kube-apiserver-kubelet-client
  leaf "$pki/admin" /O=system:masters/CN=admin
  leaf "$pki/node" "/O=system:nodes/CN=system:node:$NAME"
  for program in kube-controller-manager kube-scheduler kube-proxy; do
    leaf "$pki/$program" "/CN=system:$program"
    kubeconfig "$DIR/$program.kubeconfig" $program
  done
  kubeconfig "$DIR/kubelet.kubeconfig" node
  kubeconfig "$ADMIN" admin
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$pki/accounts.key" 2>/dev/null
  openssl pkey -in "$pki/accounts.key" -pubout -out "$pki/accounts.pub"
}

# Certificates of the store: for its server, and for a client. The client's files are in the Secret that gated Jobs
# mount.
make_store_secrets() {
  local store=$DIR/store
  [ ! -s "$store/password" ] || return 0
  authority "$store" "store of $NAME"
  leaf "$store/server" /CN=redis DNS:redis.store.svc.cluster.local,DNS:redis.store.svc,DNS:redis.store
  leaf "$store/tls" /CN=cronlatch
  printf cron >"$store/username"
  openssl rand -hex 24 | tr -d '\n' >"$store/password"
}
