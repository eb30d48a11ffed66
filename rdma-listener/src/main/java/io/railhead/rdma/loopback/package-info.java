/** The fabric between processes of one host: shared memory, not a network. */
@NullMarked
package io.railhead.rdma.loopback;

import org.jspecify.annotations.NullMarked;
