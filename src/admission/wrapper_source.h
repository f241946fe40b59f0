// SPDX-License-Identifier: Apache-2.0
// How the wrapper gets into a gated pod, as the volume cronlatch-bin: the image itself, read-only,
// or a copy that an init container writes into an emptyDir. The command of the gated container is
// the same for both. Pure.
#pragma once

#include "admission/job_view.h"
#include "admission/json_patch.h"
#include "admission/settings.h"

namespace cronlatch::op {

// Whether the pods of this Job mount the image.
bool mounts_image(const JobView& job, const Settings& settings);

// The settings decide: a Job with the other form, copied from another cluster or gated by another
// replica, is converted.
void put_wrapper_volume(PatchBuilder& patch, const JobView& job, const Settings& settings);
// Adds the init container, or removes it where the image is mounted.
void put_install_container(PatchBuilder& patch, const JobView& job, const Settings& settings);

// Whether the volume is one that a rewrite has added, also with other settings. In a pod that runs
// the gate, another webhook may have changed it, to any emptyDir, ephemeral or image volume.
bool is_wrapper_volume(const kube::Json& volume, bool is_gated, const Settings& settings);
// The same of the init container, also behind a program that another webhook has inserted.
bool is_install_container(const kube::Json& container);

}  // namespace cronlatch::op
