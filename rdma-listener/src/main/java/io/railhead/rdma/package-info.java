/** One-sided delivery: the {@code Fabric} contract that every transport fulfils. */
@NullMarked
package io.railhead.rdma;

import org.jspecify.annotations.NullMarked;
