/** The status page on the admin port: what it shows, and the few files that draw it. */
@NullMarked
package io.railhead.gateway.status;

import org.jspecify.annotations.NullMarked;
