/** S3-over-RDMA headers and tokens: the only place that knows their names and layouts. */
@NullMarked
package io.railhead.rdma.dialect;

import org.jspecify.annotations.NullMarked;
