/** The client's end of the native channel, over any transport. */
@NullMarked
package io.railhead.client.channel;

import org.jspecify.annotations.NullMarked;
