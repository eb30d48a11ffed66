package io.railhead.cli.policy;

import static java.util.Objects.requireNonNull;

import io.railhead.backend.Headers;
import io.railhead.backend.PercentCodec;
import io.railhead.gateway.authorization.PolicyTrial;
import io.railhead.gateway.authorization.PolicyTrial.Decision;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.Globs;
import io.railhead.gateway.identity.ClaimException;
import io.railhead.gateway.identity.Claims;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Role;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.request.RequestSource;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says whether a request would be allowed, and which statement decides. */
@Command(name = "test", description = "Say whether a request would be allowed, and which statement decides.", footer = {
        "", "The request is judged as a gateway judges it; no store is asked.",
        "Example: railhead policy test --policy policy.json --as alice GET s3://models/llama/config.json",
        "Example: railhead policy test --config railhead.yaml --role pods --claim kubernetes.io/namespace=ml-a GET s3://ml-a/x",
        "Exit status: 0 allowed, 1 the files cannot be used, 2 misused, 3 denied,",
        "4 a token with these claims would not be exchanged for a session of the role."})
final class PolicyTestCommand implements Callable<Integer> {
    private static final int DENIED = 3;
    private static final int NO_SESSION = 4;
    private static final String SCHEME = "s3://";
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "PUT", "POST", "DELETE");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ArgGroup(multiplicity = "1")
    private Source source = new Source();

    @Option(names = "--as", paramLabel = "PRINCIPAL", description = "The principal that signs; without, nobody does.")
    private @Nullable String principal;

    @Option(names = "--role", paramLabel = "ROLE", description = "A session of this role signs.")
    private @Nullable String role;

    @Option(names = "--claim", paramLabel = "PATH=VALUE", description = "A claim of the session's token, such as kubernetes.io/namespace=ml-a (repeatable).")
    private Map<String, String> claims = new LinkedHashMap<>();

    @Option(names = "--tenant", paramLabel = "NAME", description = "The principal's tenant; with --config the credentials say it.")
    private @Nullable String tenant;

    @Option(names = "--from", paramLabel = "ADDRESS", description = "The client's address, for aws:SourceIp.")
    private @Nullable String from;

    @Option(names = "--tls", description = "The request comes over TLS.")
    private boolean tls;

    @Option(names = "--header", paramLabel = "NAME=VALUE", description = "A header of the request, such as x-amz-copy-source=/bucket/key (repeatable).")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Parameters(index = "0", paramLabel = "METHOD", description = "GET, HEAD, PUT, POST or DELETE.")
    private String method = "";

    @Parameters(index = "1", paramLabel = "URI", description = "s3://BUCKET/KEY, s3://BUCKET, or s3:// for the list of buckets; a query may follow, such as ?prefix=a/ or ?acl.")
    private String uri = "";

    /** The place of the policy. */
    static final class Source {
        @Option(names = "--config", paramLabel = "FILE", description = "A gateway's configuration: its policy and principals.")
        @Nullable
        Path config;

        @Option(names = "--policy", paramLabel = "FILE", description = "The policy file alone.")
        @Nullable
        Path policy;
    }

    /** A token with the given claims would be refused by the role. */
    private static final class NoSession extends Exception {
        private static final long serialVersionUID = 1L;

        NoSession(String why) {
            super(why);
        }
    }

    @Override
    public Integer call() throws IOException, ConfigException {
        if (!uri.startsWith(SCHEME)) {
            throw misused("'" + uri + "' must begin with " + SCHEME);
        }
        if (!METHODS.contains(method)) {
            throw misused("'" + method + "' must be GET, HEAD, PUT, POST or DELETE");
        }
        requireAddress();
        if (role == null && !claims.isEmpty()) {
            throw misused("--claim goes with --role");
        }
        String rest = uri.substring(SCHEME.length());
        int mark = rest.indexOf('?');
        String path = '/' + PercentCodec.encodePath(mark < 0 ? rest : rest.substring(0, mark));
        Headers.Builder sent = Headers.builder();
        headers.forEach(sent::add);
        try {
            Setting setting = source.policy == null
                    ? configured(requireNonNull(source.config))
                    : new Setting(source.policy, alone());
            List<Decision> decisions = PolicyTrial.of(setting.policy())
                    .decide(setting.sender(), method, path,
                            mark < 0 ? null : rest.substring(mark + 1), sent.build());
            return print(setting.sender(), decisions);
        } catch (NoSession e) {
            spec.commandLine()
                    .getOut()
                    .println("no session of role " + role + ": " + e.getMessage());
            spec.commandLine().getOut().flush();
            return NO_SESSION;
        } catch (IllegalArgumentException e) {
            throw misused("'" + uri + "': " + e.getMessage());
        }
    }

    /** Refuses an address that the gateway would count as none. */
    private void requireAddress() {
        try {
            var _ = from == null ? null : InetAddress.ofLiteral(from);
        } catch (IllegalArgumentException e) {
            throw misused("--from: '" + from + "' is no address, such as 10.1.2.3");
        }
    }

    /** The policy, and the sender as it sees it. */
    private record Setting(Path policy, RequestSource sender) {}

    private RequestSource alone() {
        if (role != null) {
            return session(principal == null ? role : principal,
                    tenant == null ? "default" : tenant, claimed(role, "", claims));
        }
        return principal == null
                ? RequestSource.anonymous(from, tls)
                : RequestSource.of(principal, tenant == null ? "default" : tenant, from, tls);
    }

    private Setting configured(Path file) throws ConfigException, NoSession {
        if (tenant != null) {
            throw misused("--tenant goes with --policy; the configuration's credentials say it");
        }
        GatewayConfig.Gateway gateway = ConfigLoader.load(file).gateway();
        Path policy = gateway.access().policy();
        if (policy == null) {
            throw new ConfigException(file + ": gateway.policy names no file");
        }
        if (role != null && principal != null) {
            throw misused("--as and --role exclude each other; the role says its principal");
        }
        if (principal == null && role == null) {
            return new Setting(policy, alone());
        }
        try (CredentialStore credentials = CredentialStore.open(gateway)) {
            if (role != null) {
                return new Setting(policy, assumed(credentials, role, gateway.credentials()));
            }
            Principal known = credentials.findPrincipal(requireNonNull(principal));
            if (known == null) {
                throw new ConfigException(
                        "'" + principal + "' is no principal of " + gateway.credentials());
            }
            return new Setting(policy, RequestSource.of(known.name(), known.tenant(), from, tls));
        }
    }

    /** The sender that a token with these claims would make, as the credentials are now. */
    private RequestSource assumed(CredentialStore credentials, String name, Path file)
            throws ConfigException, NoSession {
        Role known = credentials.findRole(name);
        if (known == null) {
            throw new ConfigException("'" + name + "' is no role of " + file);
        }
        try {
            RoleSession session = claimed(known.name(), known.issuer(),
                    known.require(new Claims(claims)));
            Principal assumed = known.principal(session.claims());
            if (credentials.principalOf(session) == null) {
                throw new NoSession("sessions like this are revoked in " + file);
            }
            return session(assumed.name(), assumed.tenant(), session);
        } catch (ClaimException e) {
            throw new NoSession(why(known, String.valueOf(e.getMessage())));
        }
    }

    /** Names the first claim that does not satisfy the role, and what would. */
    private String why(Role known, String otherwise) {
        for (Map.Entry<String, List<String>> wanted : known.claims().entrySet()) {
            String given = claims.get(wanted.getKey());
            String what = " (" + String.join(", ", wanted.getValue()) + ")";
            if (given == null) {
                return "it needs the claim " + wanted.getKey() + what + "; give it by --claim "
                        + wanted.getKey() + "=VALUE";
            }
            if (wanted.getValue().stream().noneMatch(one -> Globs.matches(one, given))) {
                return "the claim " + wanted.getKey() + " is '" + given
                        + "', which is none of those that the role takes" + what;
            }
        }
        return otherwise;
    }

    private static RoleSession claimed(String role, String issuer, Map<String, String> claims) {
        Instant now = Instant.now();
        return new RoleSession(role, RoleSession.hash(issuer), "policy-test",
                claims.getOrDefault("sub", ""), now,
                now.plusSeconds(1), claims, null);
    }

    private RequestSource session(String name, String itsTenant, RoleSession session) {
        RequestSource plain = RequestSource.of(name, itsTenant, from, tls);
        return new RequestSource(plain.principal(), plain.tenant(), plain.source(), plain.secure(),
                session, "");
    }

    private int print(RequestSource sender, @Nullable List<Decision> decisions) {
        PrintWriter out = spec.commandLine().getOut();
        boolean allowed = decisions != null && decisions.stream().allMatch(Decision::allowed);
        out.println((sender.principal().isEmpty() ? "nobody" : sender.principal()) + ": " + method
                + ' ' + uri + ": "
                + (allowed ? "allowed" : "denied"));
        if (decisions == null) {
            out.println("  this request is none that a policy can judge: a parameter, header or"
                    + " key that the gateway does not know");
        } else if (decisions.isEmpty()) {
            out.println("  its body names the objects, and each is judged by itself: try them"
                    + " with DELETE, or with PUT for a form");
        }
        for (Decision decision : decisions == null ? List.<Decision>of() : decisions) {
            out.println("  " + decision.action() + " on "
                    + (decision.resource().isEmpty() ? "the service" : decision.resource()) + ": "
                    + (decision.statement() == null
                            ? "denied, since no statement allows it"
                            : (decision.allowed() ? "allowed by " : "denied by ")
                                    + decision.statement()));
        }
        out.flush();
        return allowed ? 0 : DENIED;
    }

    private ParameterException misused(String line) {
        return new ParameterException(spec.commandLine(), line);
    }
}
