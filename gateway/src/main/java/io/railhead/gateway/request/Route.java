package io.railhead.gateway.request;

import io.railhead.backend.Backend;
import io.railhead.backend.Caller;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.config.Rule;

/**
 * The route of a request: its backend and its rule.
 *
 * @param caller the identity that the backend is asked with
 * @param namespace the account that owns the caller's bucket names; "" for a shared bucket
 * @param usage what tenants use
 */
public record Route(Backend backend, Caller caller, String namespace, Rule rule,
        UsageTable usage) {}
