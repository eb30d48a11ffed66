/** The fabric over reliable-connection queue pairs: InfiniBand, RoCE and soft-RoCE. */
@NullMarked
package io.railhead.rdma.verbs;

import org.jspecify.annotations.NullMarked;
