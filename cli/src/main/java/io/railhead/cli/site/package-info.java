/** {@code railhead bench site}: what a gateway would save in front of a user's own store. */
@NullMarked
package io.railhead.cli.site;

import org.jspecify.annotations.NullMarked;
