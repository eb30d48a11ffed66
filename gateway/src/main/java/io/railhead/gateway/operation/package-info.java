/** The S3 operations: one class each, and the table that routes to them. */
@NullMarked
package io.railhead.gateway.operation;

import org.jspecify.annotations.NullMarked;
