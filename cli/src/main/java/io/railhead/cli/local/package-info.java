/** Local processes that a command starts, calls, measures and ends. */
@NullMarked
package io.railhead.cli.local;

import org.jspecify.annotations.NullMarked;
