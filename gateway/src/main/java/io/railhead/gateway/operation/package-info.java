/** The table of S3 operations, and the routing of each request to one. */
@NullMarked
package io.railhead.gateway.operation;

import org.jspecify.annotations.NullMarked;
