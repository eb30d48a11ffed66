/** The training run of the AOT cache: a gateway and its clients at work. */
@NullMarked
package io.railhead.cli.training;

import org.jspecify.annotations.NullMarked;
