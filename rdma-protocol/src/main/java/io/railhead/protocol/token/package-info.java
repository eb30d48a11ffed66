/** S3-over-RDMA headers and tokens: the only place that knows their names and layouts. */
@NullMarked
package io.railhead.protocol.token;

import org.jspecify.annotations.NullMarked;
