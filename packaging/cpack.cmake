# SPDX-License-Identifier: Apache-2.0
# cpack --config packaging/cpack.cmake -G DEB | RPM: packs the folder TREE, which scripts/release.sh fills. The environment
# has TREE, OUT, VERSION, DEB_ARCHITECTURE, RPM_ARCHITECTURE, SOURCE, MAINTAINER and SOURCE_DATE_EPOCH.
set(CPACK_PACKAGE_NAME cronlatch)
set(CPACK_PACKAGE_VERSION $ENV{VERSION})
set(CPACK_PACKAGE_FILE_NAME cronlatch-$ENV{VERSION})
set(CPACK_PACKAGE_VENDOR cronlatch)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs a command while it holds a lock, on one host or on many")
set(CPACK_PACKAGE_DESCRIPTION "cronlatch prevents overlapping runs of a scheduled command, between hosts and between pods of Kubernetes.
The lock is in Redis, Valkey or PostgreSQL, or in a file of this host. The package contains two static programs:
cronlatch, and the plugin kubectl-cronlatch.")
set(CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT $ENV{MAINTAINER})
set(CPACK_PACKAGE_HOMEPAGE_URL $ENV{SOURCE})
set(CPACK_PACKAGE_DIRECTORY $ENV{OUT})
set(CPACK_INSTALLED_DIRECTORIES "$ENV{TREE}/usr;usr")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES OFF)  # they are linked with -s

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE $ENV{DEB_ARCHITECTURE})
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)  # static programs
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_ARCHITECTURE $ENV{RPM_ARCHITECTURE})
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP System)
set(CPACK_RPM_PACKAGE_AUTOREQ OFF)
set(CPACK_RPM_PACKAGE_AUTOPROV OFF)
# Folders that belong to the system, not to this package.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr /usr/bin /usr/share /usr/share/man /usr/share/man/man1 /usr/share/doc /usr/share/licenses /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/vendor-completions /usr/share/fish
    /usr/share/fish/vendor_completions.d)
# The same package from the same files: no host name and no time of the build.
set(CPACK_RPM_SPEC_MORE_DEFINE
    "%define _buildhost reproducible
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define source_date_epoch_from_changelog 0
%define _build_id_links none
%define __os_install_post %{nil}")
