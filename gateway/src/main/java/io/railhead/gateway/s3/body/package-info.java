/** Request bodies: chunked framing, trailers and checksums, verified piece by piece. */
@NullMarked
package io.railhead.gateway.s3.body;

import org.jspecify.annotations.NullMarked;
