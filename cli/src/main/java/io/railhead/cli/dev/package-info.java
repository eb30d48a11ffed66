/** A store and a gateway in one terminal, for whoever writes a program against them. */
@NullMarked
package io.railhead.cli.dev;

import org.jspecify.annotations.NullMarked;
