/** A store and a gateway in one terminal, for developers of clients. */
@NullMarked
package io.railhead.cli.dev;

import org.jspecify.annotations.NullMarked;
