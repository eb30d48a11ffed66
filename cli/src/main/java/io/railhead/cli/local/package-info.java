/** Processes of this machine that a command starts, asks, measures and ends. */
@NullMarked
package io.railhead.cli.local;

import org.jspecify.annotations.NullMarked;
