/** {@code Backend} over the AWS SDK v2: its HTTP client, signer and retry strategy. */
@NullMarked
package io.railhead.backend.aws;

import org.jspecify.annotations.NullMarked;
