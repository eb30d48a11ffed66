/** One HTTP request and its response: the exchange, and both bodies. */
@NullMarked
package io.railhead.gateway.http;

import org.jspecify.annotations.NullMarked;
