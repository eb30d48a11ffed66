package io.railhead.gateway.request;

import io.railhead.backend.Backend;
import io.railhead.backend.Caller;
import io.railhead.cache.ObjectId;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.config.Rules;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the backend, the identity and the rule of a request. Rules and stores are replaced
 * together: a request is routed by one table and keeps its result. Any thread.
 */
public final class Routes {
    /**
     * No account has this name: objects cached for anonymous requests are kept apart from every
     * tenant's.
     */
    private static final String ANONYMOUS = "!anonymous";
    /** Begins the namespace of a tenant's cache-only objects. */
    private static final String TENANT = "tenant:";

    private final UsageTable usage;
    private final @Nullable CacheOnlyBackends cacheOnly;
    private final @Nullable WriteBackStores writeBack;
    private volatile Table table;

    /**
     * The rules and stores of one configuration.
     *
     * @param stores by name, in the configuration's order
     */
    public record Table(Rules rules, Map<String, PlacedStore> stores) {

        public Table {
            stores = Collections.unmodifiableMap(new LinkedHashMap<>(stores));
        }

        private Route route(Authentication authentication, Rule rule, UsageTable usage) {
            return switch (authentication) {
                case Authentication.Anonymous _ ->
                    route(rule, new Caller.Anonymous(), ANONYMOUS, usage);
                case Authentication.PassedThrough(String host) ->
                    route(rule, new Caller.ClientSigned(host), "", usage);
                case Authentication.Known known ->
                    route(rule, known.principal().backendCredential(known.key()),
                            rule.shared() ? "" : known.principal().namespace(known.key()), usage);
            };
        }

        private Route route(Rule rule, Caller caller, String account, UsageTable usage) {
            PlacedStore store = stores.get(rule.backend());
            if (store == null) {
                throw new IllegalStateException("no backend is called " + rule.backend());
            }
            return new Route(store.backend(), caller, store.namespace(account), rule, usage);
        }
    }

    /** @param usage counts what each tenant asks of a store */
    public Routes(Table table, UsageTable usage) {
        this(table, usage, null);
    }

    /** @param cacheOnly null if no rule of any table has {@code durability: none} */
    public Routes(Table table, UsageTable usage, @Nullable CacheOnlyBackends cacheOnly) {
        this(table, usage, cacheOnly, null);
    }

    /**
     * @param cacheOnly null if no rule of any table has {@code durability: none}
     * @param writeBack null if every write is acknowledged by its store
     */
    public Routes(Table table, UsageTable usage, @Nullable CacheOnlyBackends cacheOnly,
            @Nullable WriteBackStores writeBack) {
        this.table = table;
        this.usage = usage;
        this.cacheOnly = cacheOnly;
        this.writeBack = writeBack;
    }

    /** Routes later requests by another table. */
    public void replace(Table other) {
        table = other;
    }

    public Table table() {
        return table;
    }

    /** Returns the backends that are configured now. */
    public List<Backend> backends() {
        return table.stores.values().stream().map(PlacedStore::backend).toList();
    }

    public Set<String> backendNames() {
        return table.stores.keySet();
    }

    public Route route(Authentication authentication, Address address) {
        Table now = table;
        Rule rule = now.rules.match(authentication.tenant(), address.bucket(), address.key());
        return rule.isCacheOnly()
                ? cacheOnly(authentication, String.valueOf(address.bucket()), rule)
                : withPending(now.route(authentication, rule, usage), authentication, now.rules,
                        address.bucket());
    }

    private Route withPending(Route route, Authentication authentication, Rules rules,
            @Nullable String bucket) {
        return writeBack == null
                ? route
                : new Route(writeBack.over(route.backend(), authentication, route.namespace(),
                        route.rule(), bucket != null && rules.mayBeAtDisk(bucket)),
                        route.caller(), route.namespace(), route.rule(), route.usage());
    }

    /** Returns whether the rules in force now keep a cache-only object in no store. */
    public boolean isCacheOnly(ObjectId id) {
        String namespace = id.namespace();
        String tenant = namespace.startsWith(TENANT) ? namespace.substring(TENANT.length()) : "";
        return table.rules.match(tenant, id.bucket(), id.key()).isCacheOnly();
    }

    /** Routes to the cache itself; past it if a store has the bucket, too. */
    private Route cacheOnly(Authentication authentication, String bucket, Rule rule) {
        if (cacheOnly == null) {
            throw new IllegalStateException("nothing serves durability: none");
        }
        String tenant = authentication.tenant();
        String namespace = authentication instanceof Authentication.Known
                ? tenant.isEmpty()
                        ? "principal:" + authentication.principalName()
                        : TENANT + tenant
                : ANONYMOUS;
        return new Route(cacheOnly.of(namespace, tenant, rule), new Caller.Anonymous(), namespace,
                cacheOnly.isRefused(bucket) ? rule.withoutCache() : rule, usage);
    }
}
