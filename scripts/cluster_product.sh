# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The product in a cluster: its image from the Dockerfile, Redis, the chart, the namespace to try it in. Sourced.

install_product() { :; }
