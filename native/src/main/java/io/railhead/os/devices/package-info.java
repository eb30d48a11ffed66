/**
 * The machine's RDMA devices as the kernel lists them: read from sysfs, with no library of
 * rdma-core, so that it works where verbs do not.
 */
@NullMarked
package io.railhead.os.devices;

import org.jspecify.annotations.NullMarked;
