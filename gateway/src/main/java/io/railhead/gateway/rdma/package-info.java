/** Admission of RDMA tokens, and the refusals that name their faults. */
@NullMarked
package io.railhead.gateway.rdma;

import org.jspecify.annotations.NullMarked;
