/** The status page on the admin port: its content, and the files that draw it. */
@NullMarked
package io.railhead.gateway.status;

import org.jspecify.annotations.NullMarked;
