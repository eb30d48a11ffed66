/** Admission of RDMA tokens, and the errors of RDMA transfers. */
@NullMarked
package io.railhead.gateway.rdma;

import org.jspecify.annotations.NullMarked;
