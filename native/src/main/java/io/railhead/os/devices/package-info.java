/**
 * The machine's RDMA devices as the kernel lists them in sysfs. No library of rdma-core is used, so
 * this works where verbs do not.
 */
@NullMarked
package io.railhead.os.devices;

import org.jspecify.annotations.NullMarked;
