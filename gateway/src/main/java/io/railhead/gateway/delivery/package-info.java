/** How an object's bytes reach whoever asked: an HTTP body out of page memory, or one-sided. */
@NullMarked
package io.railhead.gateway.delivery;

import org.jspecify.annotations.NullMarked;
