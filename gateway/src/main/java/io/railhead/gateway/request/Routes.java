package io.railhead.gateway.request;

import io.railhead.backend.Backend;
import io.railhead.backend.Caller;
import io.railhead.gateway.auth.AccessKey;
import io.railhead.gateway.auth.Authentication;
import io.railhead.gateway.auth.Principal;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.config.Rules;
import java.util.Map;

/** Which backend, in whose name and under which rule. Any thread. */
public final class Routes {
    /** No account is called so: what anonymous requests see is kept apart from every tenant's. */
    private static final String ANONYMOUS = "!anonymous";

    private final Rules rules;
    private final Map<String, Backend> backends;

    public Routes(Rules rules, Map<String, Backend> backends) {
        this.rules = rules;
        this.backends = Map.copyOf(backends);
    }

    public Route route(Authentication authentication, Address address) {
        return switch (authentication) {
            case Authentication.Anonymous _ -> {
                Rule rule = rules.match("", address.bucket(), address.key());
                yield new Route(backend(rule), new Caller.Anonymous(), ANONYMOUS, rule);
            }
            case Authentication.PassedThrough(String host) -> {
                Rule rule = rules.match("", address.bucket(), address.key());
                yield new Route(backend(rule), new Caller.ClientSigned(host), "", rule);
            }
            case Authentication.Known known -> route(known.principal(), known.key(), address);
        };
    }

    private Route route(Principal principal, AccessKey key, Address address) {
        Rule rule = rules.match(principal.tenant(), address.bucket(), address.key());
        String namespace = rule.shared() ? "" : principal.namespace(key);
        return new Route(backend(rule), principal.backendCredential(key), namespace, rule);
    }

    private Backend backend(Rule rule) {
        Backend backend = backends.get(rule.backend());
        if (backend == null) {
            throw new IllegalStateException("no backend is called " + rule.backend());
        }
        return backend;
    }
}
