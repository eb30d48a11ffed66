/** {@code Backend} over the AWS SDK v2: its credentials, signer and retry delays. */
@NullMarked
package io.railhead.backend.aws;

import org.jspecify.annotations.NullMarked;
