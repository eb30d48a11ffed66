package io.railhead.gateway.request;

import io.railhead.backend.Backend;
import io.railhead.backend.Caller;
import io.railhead.gateway.config.Rule;

/**
 * The route of a request: its backend and its rule.
 *
 * @param caller in whose name the backend is asked
 * @param namespace the account that the caller's names belong to, "" for a shared bucket
 */
public record Route(Backend backend, Caller caller, String namespace, Rule rule) {}
