# SPDX-License-Identifier: Apache-2.0
# dry_run.py: creates each Job of a JSON array (stdin) in a dry run of the API server of api_server.sh. Writes an array of
# {"name": ..., "object": ...} or {"name": ..., "message": ...} for a refused Job.
import http.client
import json
import ssl
import sys

connection = http.client.HTTPSConnection("127.0.0.1", 6443, context=ssl._create_unverified_context())
results = []
for job in json.load(sys.stdin):
    metadata = job["metadata"]
    connection.request(
        "POST",
        f"/apis/batch/v1/namespaces/{metadata['namespace']}/jobs?dryRun=All",
        json.dumps(job),
        {"Authorization": "Bearer token", "Content-Type": "application/json"},
    )
    response = connection.getresponse()
    answer = json.load(response)
    result = {"name": metadata["name"]}
    if response.status == 201:
        result["object"] = answer
    else:
        result["message"] = answer.get("message", str(response.status))
    results.append(result)
json.dump(results, sys.stdout)
