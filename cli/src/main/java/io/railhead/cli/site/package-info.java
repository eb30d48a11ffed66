/** {@code railhead bench site}: measures a gateway's saving in front of a user's own store. */
@NullMarked
package io.railhead.cli.site;

import org.jspecify.annotations.NullMarked;
