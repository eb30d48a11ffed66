/**
 * HTTP/1.1 connections to stores. A body's bytes are received straight into the memory that its
 * reader names.
 */
@NullMarked
package io.railhead.backend.http;

import org.jspecify.annotations.NullMarked;
