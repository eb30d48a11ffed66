/**
 * RDMA verbs: rdma-core's libibverbs and librdmacm through {@code java.lang.foreign}, behind
 * DiSNI's API. {@link io.railhead.os.verbs.VerbsProvider} is the way in; what DiSNI's types cannot
 * say is in {@link io.railhead.os.verbs.VerbsExtensions}, and what only NVIDIA's adapters can do in
 * {@link io.railhead.os.verbs.Mlx5}.
 */
@NullMarked
package io.railhead.os.verbs;

import org.jspecify.annotations.NullMarked;
