/** S3's errors, as enum, exception and document. */
@NullMarked
package io.railhead.gateway.s3;

import org.jspecify.annotations.NullMarked;
