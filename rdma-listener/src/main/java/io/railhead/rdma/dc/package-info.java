/**
 * The fabric over dynamically connected queue pairs of mlx5 adapters, for clients whose tokens name
 * a DC target only.
 */
@NullMarked
package io.railhead.rdma.dc;

import org.jspecify.annotations.NullMarked;
