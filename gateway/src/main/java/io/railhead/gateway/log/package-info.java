/** The access log, in S3's format, and the application's log. */
@NullMarked
package io.railhead.gateway.log;

import org.jspecify.annotations.NullMarked;
