package io.railhead.gateway.identity;

import io.railhead.backend.Caller;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.Globs;
import io.railhead.gateway.config.Section;
import io.railhead.gateway.config.YamlFile;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The content of {@code credentials.yaml}. Immutable. */
final class Credentials {
    static final Credentials NONE = new Credentials(Map.of(), Map.of(), Map.of(), List.of());

    private final Map<String, Principal> byName;
    private final Map<String, Identity> byAccessKey;
    private final Map<String, Role> roles;
    private final List<Revocation> revoked;
    /** Of principals and roles, with the names of claims where a token decides. */
    private final Set<String> tenants;
    private final boolean severalTenants;

    private Credentials(Map<String, Principal> byName, Map<String, Identity> byAccessKey,
            Map<String, Role> roles, List<Revocation> revoked) {
        this.byName = Collections.unmodifiableMap(byName);
        this.byAccessKey = Map.copyOf(byAccessKey);
        this.roles = Collections.unmodifiableMap(roles);
        this.revoked = List.copyOf(revoked);
        tenants = Collections.unmodifiableSet(tenants(byName, roles));
        severalTenants = tenants.size() > 1
                || roles.values().stream().anyMatch(role -> role.tenant().hasClaims());
    }

    /** @param issuers those whose tokens the gateway verifies; a role must name one */
    static Credentials parse(Path file, byte[] content, Set<String> issuers)
            throws ConfigException {
        Section root = YamlFile.parse(file, content);
        Map<String, Principal> byName = new LinkedHashMap<>();
        Map<String, Identity> byAccessKey = new HashMap<>();
        for (Section section : root.list("principals")) {
            Principal principal = principal(section);
            if (byName.putIfAbsent(principal.name(), principal) != null) {
                throw section.problem("name", "'" + principal.name() + "' appears twice");
            }
            for (AccessKey key : principal.keys()) {
                if (byAccessKey.putIfAbsent(key.id(), new Identity(principal, key)) != null) {
                    throw section.problem("keys",
                            "the access_key '" + key.id() + "' appears twice in this file");
                }
            }
        }
        Map<String, Role> roles = new RoleReader(issuers, byName.keySet()).roles(root);
        List<Revocation> revoked = RoleReader.revoked(root);
        root.close();
        if (byName.isEmpty() && roles.isEmpty()) {
            throw root.problem("principals", "is missing; name at least one, or a role");
        }
        return new Credentials(byName, byAccessKey, roles, revoked);
    }

    private static Principal principal(Section section) throws ConfigException {
        String name = section.requireText("name");
        if (name.startsWith(Role.PREFIX)) {
            throw section.problem("name", "must not begin with " + Role.PREFIX
                    + ", which policies name roles by");
        }
        String tenant = section.text("tenant", "default");
        List<AccessKey> keys = new ArrayList<>();
        for (Section key : section.list("keys")) {
            keys.add(accessKey(key));
            key.close();
        }
        if (keys.isEmpty()) {
            throw section.problem("keys", "needs at least one access_key and secret_key");
        }
        Principal principal = new Principal(name, tenant, keys, backend(section), gids(section),
                section.flag("rdma_get", true), section.flag("rdma_put", false),
                section.flag("admin", false));
        section.close();
        return principal;
    }

    static Set<InetAddress> gids(Section section) throws ConfigException {
        Set<InetAddress> gids = new HashSet<>();
        for (String gid : section.texts("gids")) {
            try {
                gids.add(InetAddress.ofLiteral(gid));
            } catch (IllegalArgumentException e) {
                throw section.problem("gids",
                        "'" + gid + "' is not an address such as 10.0.0.7 or fe80::7");
            }
        }
        return gids;
    }

    private static AccessKey accessKey(Section section) throws ConfigException {
        String id = section.requireText("access_key");
        if (id.indexOf('/') >= 0 || id.indexOf(',') >= 0 || !id.strip().equals(id)) {
            throw section.problem("access_key", "must not hold '/', ',' or outer blanks");
        }
        String token = section.text("session_token");
        return new AccessKey(id, new Secret(section.requireText("secret_key")),
                token == null ? null : new Secret(token));
    }

    static @Nullable BackendCredential backend(Section section) throws ConfigException {
        Section backend = section.section("backend_credential");
        if (!section.has("backend_credential")) {
            return null;
        }
        BackendCredential credential = new BackendCredential(backend.text("account"),
                backend.has("role_arn") ? role(backend) : caller(backend));
        backend.close();
        return credential;
    }

    private static Caller caller(Section backend) throws ConfigException {
        return isProvided(backend)
                ? new Caller.DefaultChain()
                : BackendCredential.caller(accessKey(backend));
    }

    private static Caller role(Section backend) throws ConfigException {
        String token = backend.text("token_file");
        Caller source = token == null ? caller(backend) : null;
        if (token != null && (backend.has("access_key") || backend.has("provider"))) {
            throw backend.problem("token_file", "stands instead of a key pair or a provider");
        }
        if (token != null && !Path.of(token).isAbsolute()) {
            throw backend.problem("token_file", "must be a path from the root: " + token);
        }
        return new Caller.AssumedRole(backend.requireText("role_arn"),
                backend.text("session_name", "railhead"), backend.text("external_id"),
                stsEndpoint(backend), source instanceof Caller.Credential key ? key : null,
                token == null ? null : Path.of(token));
    }

    private static @Nullable URI stsEndpoint(Section backend) throws ConfigException {
        String text = backend.text("sts_endpoint");
        try {
            URI endpoint = text == null ? null : new URI(text);
            if (endpoint == null || (endpoint.getHost() != null
                    && List.of("http", "https").contains(endpoint.getScheme()))) {
                return endpoint;
            }
        } catch (URISyntaxException e) {
            // The message below says what is wrong.
        }
        throw backend.problem("sts_endpoint", "'" + text
                + "' must be scheme, host and port, such as https://10.0.0.5:9000");
    }

    private static boolean isProvided(Section backend) throws ConfigException {
        String provider = backend.text("provider");
        if (provider != null && !provider.equals("default")) {
            throw backend.problem("provider", "'" + provider
                    + "' is not known; leave it out, or use default for the SDK's provider chain");
        }
        if (provider != null && backend.has("access_key")) {
            throw backend.problem("provider", "stands instead of access_key and secret_key");
        }
        return provider != null;
    }

    @Nullable
    Identity find(String accessKeyId) {
        return byAccessKey.get(accessKeyId);
    }

    @Nullable
    Principal findPrincipal(String name) {
        return byName.get(name);
    }

    /** Requires a single tenant: a trusted network cannot tell tenants apart. */
    Credentials requireOneTenant(Path file, String trusted) throws ConfigException {
        if (!byName.containsKey(trusted)) {
            throw new ConfigException("gateway.trusted_network.principal: there is no '" + trusted
                    + "' in " + file);
        }
        if (tenants.size() > 1) {
            throw new ConfigException(file.getFileName() + ": principals: tenants "
                    + String.join(", ", tenants) + " cannot be told apart under"
                    + " gateway.authentication: trusted_network; leave one, or use verify");
        }
        return this;
    }

    List<Principal> principals() {
        return List.copyOf(byName.values());
    }

    Map<String, Role> roles() {
        return roles;
    }

    /**
     * Returns the principal that a session acts as now; null if its role is gone, its claims do not
     * satisfy the role any more, or it is revoked.
     */
    @Nullable
    Principal principalOf(RoleSession session) {
        Role role = roles.get(session.role());
        Principal principal = role == null || !role.gives(session)
                ? null
                : formerPrincipalOf(session);
        return principal == null || revoked.stream()
                .anyMatch(one -> one.concerns(session, principal.name()))
                        ? null
                        : principal;
    }

    /**
     * Returns the principal that a session acts as, or acted as before it was revoked; null if its
     * role is gone, or its claims do not satisfy the role any more.
     */
    @Nullable
    Principal formerPrincipalOf(RoleSession session) {
        Role role = roles.get(session.role());
        if (role == null || session.issuer() != RoleSession.hash(role.issuer())) {
            return null;
        }
        try {
            return role.principal(session.claims());
        } catch (ClaimException e) {
            return null;
        }
    }

    /** Returns whether principals and sessions may belong to more than one tenant. */
    boolean areOfSeveralTenants() {
        return severalTenants;
    }

    boolean hasTenant(String tenant) {
        return tenants.contains(tenant)
                || roles.values().stream().anyMatch(role -> role.tenant().hasClaims());
    }

    /** Returns whether a policy may name a principal, or the sessions of a role, like this. */
    boolean isPrincipal(String name) {
        return byName.containsKey(name) || roles.values()
                .stream()
                .anyMatch(role -> name.equals(Role.PREFIX + role.name()) || role.mayBe(name));
    }

    /** Returns every secret of the file. */
    List<String> secrets() {
        List<Caller> callers = new ArrayList<>();
        for (Principal principal : byName.values()) {
            principal.keys().forEach(key -> callers.add(BackendCredential.caller(key)));
            if (principal.backend() != null) {
                callers.add(principal.backend().caller());
            }
        }
        roles.values().forEach(role -> callers.add(role.backend().caller()));
        List<String> secrets = new ArrayList<>();
        for (Caller caller : callers) {
            Caller signing = caller instanceof Caller.AssumedRole role ? role.source() : caller;
            if (signing instanceof Caller.Credential(String _, String secret, String token)) {
                secrets.add(secret);
                if (token != null) {
                    secrets.add(token);
                }
            }
        }
        return secrets;
    }

    @Nullable
    Caller anyAtStore() {
        for (Principal principal : byName.values()) {
            return principal.backendCredential(principal.keys().getFirst());
        }
        return roles.values()
                .stream()
                .findFirst()
                .map(role -> role.backend().caller())
                .orElse(null);
    }

    private static Set<String> tenants(Map<String, Principal> byName, Map<String, Role> roles) {
        Set<String> tenants = new LinkedHashSet<>();
        byName.values().forEach(principal -> tenants.add(principal.tenant()));
        roles.values().forEach(role -> tenants.add(role.tenant().text()));
        return tenants;
    }

    /** Returns the principals and roles that are others once the next content replaces this. */
    CredentialChange until(Credentials next) {
        Map<String, Record> before = entries();
        Map<String, Record> after = next.entries();
        Set<String> vanished = new HashSet<>(before.keySet());
        vanished.removeAll(after.keySet());
        Set<String> added = new HashSet<>(after.keySet());
        added.removeAll(before.keySet());
        Set<String> changed = new HashSet<>();
        after.forEach((name, entry) -> {
            if (before.containsKey(name) && !entry.equals(before.get(name))) {
                changed.add(name);
            }
        });
        return new CredentialChange(vanished, changed, added);
    }

    /** No principal's name begins as those of roles do here. */
    private Map<String, Record> entries() {
        Map<String, Record> entries = new HashMap<>(byName);
        roles.forEach((name, role) -> entries.put(Role.PREFIX + name, role));
        return entries;
    }

    /** Returns warnings about revocations that end nothing. */
    List<String> idleRevocations() {
        List<String> warnings = new ArrayList<>();
        for (Revocation one : revoked) {
            String role = one.role();
            if (role != null && roles.keySet()
                    .stream()
                    .noneMatch(
                            name -> Globs.matches(role, name))) {
                warnings.add("revoked: no role is called " + role);
            }
        }
        return warnings;
    }

    /** Returns warnings about principals that the store cannot tell apart. */
    List<String> warnings() {
        Map<String, Set<String>> users = new LinkedHashMap<>();
        for (Principal principal : byName.values()) {
            BackendCredential backend = principal.backend();
            if (backend != null) {
                users.computeIfAbsent(backend.caller() instanceof Caller.DefaultChain
                        ? "of the default chain"
                        : backend.ownName(), k -> new LinkedHashSet<>())
                        .add(principal.name());
            } else {
                principal.keys()
                        .forEach(key -> users
                                .computeIfAbsent(key.id(), k -> new LinkedHashSet<>())
                                .add(principal.name()));
            }
        }
        List<String> warnings = new ArrayList<>();
        users.forEach((key, names) -> {
            if (names.size() > 1) {
                warnings.add("principals " + String.join(", ", names)
                        + " share the backend credential " + key
                        + ": only a static policy can tell them apart");
            }
        });
        return warnings;
    }
}
