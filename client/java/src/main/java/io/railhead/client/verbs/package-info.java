/** The client's end of a session over verbs. */
@NullMarked
package io.railhead.client.verbs;

import org.jspecify.annotations.NullMarked;
