/** Authentication: SigV4 and SigV2 signatures of requests, forms and chunks, verified. */
@NullMarked
package io.railhead.gateway.s3.sigv4;

import org.jspecify.annotations.NullMarked;
