# SPDX-License-Identifier: Apache-2.0
# One image: /cronlatch (static, copied into gated pods), /kubectl-cronlatch (static, to be copied out of the image) and
# /cronlatch-operator with its shared libraries. Built from source on Debian 12. The last stage contains these libraries,
# the CA certificates, the time zones, and skopeo, which reads image configurations from registries, and nothing else of
# Debian.
# docker build -t cronlatch . | podman build -t cronlatch . | buildah bud --isolation=chroot -t cronlatch .
ARG BASE=docker.io/library/debian:12-slim

FROM ${BASE} AS tools
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      g++ cmake ninja-build ccache ca-certificates \
      libssl-dev libhiredis-dev libc-ares-dev libyaml-cpp-dev nlohmann-json3-dev \
 && rm -rf /var/lib/apt/lists/*
# What was compiled before comes from a folder of the builder (RUN --mount=type=cache), not of the image.
ENV CCACHE_DIR=/var/cache/ccache
WORKDIR /src
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake

FROM tools AS wrapper
COPY src src
RUN --mount=type=cache,target=/var/cache/ccache cmake --preset release \
 && cmake --build build/release --target cronlatch kubectl-cronlatch \
 && build/release/cronlatch version \
 && build/release/kubectl-cronlatch help

FROM tools AS operator
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      libboost-dev libcpprest-dev prometheus-cpp-dev skopeo tzdata \
 && rm -rf /var/lib/apt/lists/*
COPY src src
RUN --mount=type=cache,target=/var/cache/ccache cmake --preset operator \
 && cmake --build build/operator --target cronlatch-operator
# The libraries that the dynamic loader loads, at the same paths. In the output of ldd, the loader itself is the line
# without an arrow.
RUN mkdir -p /root-of-image/etc/ssl/certs /root-of-image/usr/bin /root-of-image/usr/share \
 && install -d -m 1777 /root-of-image/tmp \
 && ldd build/operator/cronlatch-operator /usr/bin/skopeo | awk '/:$/ { next } $2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' \
    | xargs -I{} cp --dereference --parents {} /root-of-image \
 && cp build/operator/cronlatch-operator /root-of-image/ \
 && cp /usr/bin/skopeo /root-of-image/usr/bin/ \
 && cp /etc/ssl/certs/ca-certificates.crt /root-of-image/etc/ssl/certs/ \
 && tar -C /usr/share -c --dereference --hard-dereference --exclude=posix --exclude=right --exclude=localtime zoneinfo | tar -C /root-of-image/usr/share -x \
 && echo 'cronlatch:x:65532:65532::/nonexistent:/nonexistent' >/root-of-image/etc/passwd \
 && echo 'cronlatch:x:65532:' >/root-of-image/etc/group \
 && chroot /root-of-image /cronlatch-operator version \
 && chroot /root-of-image /usr/bin/skopeo --version

FROM scratch
LABEL org.opencontainers.image.title=cronlatch \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.description="One run at a time for annotated CronJobs: wrapper and operator"
COPY --from=operator /root-of-image /
COPY --from=wrapper /src/build/release/cronlatch /src/build/release/kubectl-cronlatch /
# Path of the CA certificates for OpenSSL in this image. For a store with a private CA, the Secret contains ca.crt.
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
USER 65532:65532
ENTRYPOINT ["/cronlatch"]
