/**
 * RDMA verbs: rdma-core's libibverbs and librdmacm through {@code java.lang.foreign}, behind
 * DiSNI's API. {@link io.railhead.os.verbs.VerbsProvider} is the entry.
 * {@link io.railhead.os.verbs.VerbsExtensions} has the calls that DiSNI's types lack, and
 * {@link io.railhead.os.verbs.Mlx5} those of NVIDIA's adapters only.
 */
@NullMarked
package io.railhead.os.verbs;

import org.jspecify.annotations.NullMarked;
