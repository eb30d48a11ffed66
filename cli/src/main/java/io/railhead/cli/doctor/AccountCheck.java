package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.Target;
import io.railhead.cli.OneLine;
import io.railhead.cli.doctor.StoreCalls.Answer;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Role;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks a store's response to the credentials that the gateway would sign with: the known account,
 * the reachable buckets, the missing features. Blocks; nothing is written.
 */
final class AccountCheck {
    /** More would look like an attack to a store. */
    private static final int MAX_CREDENTIALS = 32;
    private static final int ASKED = 5;
    private static final String WHY = "requests of that principal are signed with it";

    private final BackendConfig backend;
    private final List<String> buckets;
    private final boolean isOnly;
    /** Each distinct credential with one of its owners, such as {@code principal alice}. */
    private final Map<Caller, String> callers;
    private final List<Finding> findings = new ArrayList<>();

    /**
     * @param buckets may be empty
     * @param isOnly whether every principal needs this store
     */
    AccountCheck(BackendConfig backend, List<String> buckets, CredentialStore credentials,
            boolean isOnly) {
        this.backend = backend;
        this.buckets = List.copyOf(buckets);
        this.isOnly = isOnly;
        callers = callers(credentials);
    }

    private static Map<Caller, String> callers(CredentialStore credentials) {
        Map<Caller, String> callers = new LinkedHashMap<>();
        for (Principal principal : credentials.principals()) {
            principal.keys()
                    .forEach(key -> callers.putIfAbsent(principal.backendCredential(key),
                            "principal " + principal.name()));
        }
        for (String name : credentials.roles()) {
            Role role = credentials.findRole(name);
            if (role != null) {
                callers.putIfAbsent(role.backend().caller(), "role " + name);
            }
        }
        return callers;
    }

    private String subject(String what) {
        return backend.name() + "/" + what;
    }

    List<Finding> run() {
        if (callers.isEmpty()) {
            return buckets.isEmpty()
                    ? List.of()
                    : List.of(ok(subject("bucket"), "not tried: no credential is known",
                            "clients sign for themselves, or the credentials cannot be read"));
        }
        try (StoreCalls calls = new StoreCalls(backend, backend.endpoints())) {
            List<Caller> known = credentials(calls);
            if (!known.isEmpty()) {
                buckets.forEach(bucket -> bucket(calls, bucket, known));
                abilities(calls, known);
            }
        } catch (BackendException e) {
            findings.add(fail(subject("credential"), "no answer to a signed request: "
                    + e.getMessage(), "every request to the store is signed",
                    "mend what the lines of " + backend.name() + " above say"));
        } catch (IllegalArgumentException e) {
            // The endpoint's own check has reported this.
            return List.copyOf(findings);
        }
        return List.copyOf(findings);
    }

    /** Returns the credentials that the store knows. */
    private List<Caller> credentials(StoreCalls calls) {
        Map<Caller, Answer> answers = new LinkedHashMap<>();
        Target target = buckets.isEmpty()
                ? new Target(null, "", null)
                : new Target(buckets.getFirst(), "", "list-type=2&max-keys=1");
        callers.keySet()
                .stream()
                .limit(MAX_CREDENTIALS)
                .forEach(caller -> ask(calls, target, caller).ifPresent(
                        answer -> answers.put(caller, answer)));
        List<Caller> known = answers.entrySet()
                .stream()
                .filter(each -> CredentialVerdict.ofGet(each.getValue()).isKnown())
                .map(Map.Entry::getKey)
                .toList();
        answers.forEach((caller, answer) -> findings
                .add(credential(caller, answer, isOnly || known.isEmpty())));
        if (callers.size() > MAX_CREDENTIALS) {
            findings.add(ok(subject("credential"), callers.size() - MAX_CREDENTIALS
                    + " more were not tried", "so many refusals would look like an attack"));
        }
        return known;
    }

    /** Returns the store's answer; empty if an assumed role or a provider has no credential. */
    private Optional<Answer> ask(StoreCalls calls, Target target, Caller caller) {
        try {
            return Optional.of(calls.get(target, caller));
        } catch (BackendException e) {
            if (!caller.isProvided()) {
                throw e;
            }
            findings.add(fail(subject("credential"), name(caller) + " of " + callers.get(caller)
                    + " cannot be had: " + reason(e), WHY,
                    caller instanceof Caller.AssumedRole
                            ? "see whether sts_endpoint answers from here, and lets the named"
                                    + " key or token assume role_arn"
                            : "see what the SDK's provider chain needs here, such as AWS_PROFILE"));
            return Optional.empty();
        }
    }

    /** Returns what the provider, or the token service, said. */
    private static String reason(BackendException failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return OneLine.of(cause);
    }

    private Finding credential(Caller caller, Answer answer, boolean needed) {
        CredentialVerdict credentialVerdict = CredentialVerdict.ofGet(answer);
        String who = name(caller) + " of " + callers.get(caller);
        String why = WHY;
        if (credentialVerdict.isKnown()) {
            return ok(subject("credential"), who + " is known to the store"
                    + (credentialVerdict == CredentialVerdict.NOT_ALLOWED
                            ? ", which does not let it list"
                            : ""),
                    why);
        }
        String cause = who + switch (credentialVerdict) {
            case UNKNOWN_KEY -> " is not known to the store";
            case WRONG_SECRET -> " has another secret_key at the store";
            case EXPIRED -> " has expired";
            case SKEWED -> " is refused, since the clocks are too far apart";
            case OTHER_REGION -> " is refused, since the region is not " + backend.region();
            default -> " is not answered as S3 answers";
        } + " (" + answer.words() + ")";
        return needed
                ? fail(subject("credential"), cause, why, mend(credentialVerdict, answer))
                : warn(subject("credential"), cause, why + "; other stores may be its own",
                        mend(credentialVerdict, answer));
    }

    private String mend(CredentialVerdict credentialVerdict, Answer answer) {
        return switch (credentialVerdict) {
            case UNKNOWN_KEY -> "make the key at the store, or give the principal a"
                    + " backend_credential in credentials.yaml that the store knows";
            case WRONG_SECRET -> "write the store's secret_key for it into credentials.yaml; if"
                    + " it is right, a proxy before the store changes Host or path";
            case EXPIRED -> "renew session_token in credentials.yaml, or use backend_credential:"
                    + " {provider: default}";
            case SKEWED -> "keep both clocks: timedatectl set-ntp true; date -u on both";
            case OTHER_REGION -> "set backends." + backend.name() + ".region: "
                    + Optional.ofNullable(answer.headers().get("x-amz-bucket-region"))
                            .orElse("as the store has it");
            default -> "mend the port under backends." + backend.name() + ".endpoints: a store's"
                    + " console has another than its S3; otherwise look at the store's log";
        };
    }

    /** Names a caller without its secret. */
    private static String name(Caller caller) {
        return switch (caller) {
            case Caller.Credential credential -> credential.accessKey();
            case Caller.AssumedRole role -> "the assumed role " + role.arn();
            default -> "the default chain's credential";
        };
    }

    /** Checks a bucket with the first credential that may read it. */
    private void bucket(StoreCalls calls, String bucket, List<Caller> known) {
        Target target = new Target(bucket, "", null);
        String why = "clients name it";
        Answer last = null;
        for (Caller caller : known) {
            last = calls.head(target, caller);
            if (last.isSuccess()) {
                List<Answer> answers = Stream
                        .iterate(last, each -> calls.head(target, caller))
                        .limit(ASKED)
                        .toList();
                findings.add(ok(subject("bucket"), bucket + " is reached by " + name(caller),
                        why));
                findings.add(Latency.finding(subject("latency"), "bucket " + bucket, answers));
                return;
            }
        }
        if (last == null) {
            return;
        }
        findings.add(switch (CredentialVerdict.of(last)) {
            case NO_BUCKET -> fail(subject("bucket"), bucket + " is not there", why,
                    "make it, or name another: aws s3 mb s3://" + bucket + " --endpoint-url "
                            + backend.endpoints().getFirst());
            case NOT_ALLOWED -> warn(subject("bucket"), "nobody that was tried may list " + bucket
                    + " (" + last.words() + ")", why + "; reading objects may be allowed without",
                    "allow s3:ListBucket on " + bucket + " at the store");
            case OTHER_REGION -> fail(subject("bucket"), bucket + " is not in "
                    + backend.region() + " (" + last.words() + ")", why,
                    mend(CredentialVerdict.OTHER_REGION, last));
            default -> fail(subject("bucket"), bucket + " is answered with " + last.words(), why,
                    "look at the store's log");
        });
    }

    private void abilities(StoreCalls calls, List<Caller> known) {
        @Nullable
        String bucket = buckets.isEmpty() ? null : buckets.getFirst();
        String why = "pages of one version are fetched by ranged GETs with If-Match";
        Optional<Capabilities> seen = known.stream()
                .map(caller -> calls.look(bucket, caller))
                .flatMap(Optional::stream)
                .findFirst();
        if (seen.isEmpty()) {
            findings.add(ok(subject("abilities"), "not seen: no credential can list an object"
                    + " of some bytes",
                    why + "; --bucket " + backend.name()
                            + "=BUCKET names where to look"));
            return;
        }
        findings.add(abilities(seen.get(), why));
    }

    private Finding abilities(Capabilities seen, String why) {
        if (!seen.isCacheable()) {
            String lacks = seen.ranges()
                    ? "ignores If-Match on a ranged GET"
                    : "does not answer a ranged GET with 206";
            return warn(subject("abilities"), "the store " + lacks
                    + ": nothing of it is cached, each read goes to it", why,
                    "take a proxy out that changes Range or If-Match, or bring the store to a"
                            + " version that knows them");
        }
        List<String> lacks = new ArrayList<>();
        if (!seen.conditionalHead()) {
            lacks.add("ignores If-None-Match on HEAD");
        }
        if (!seen.checksums()) {
            lacks.add("shows no checksum of what was looked at");
        }
        return ok(subject("abilities"), "ranges and If-Match are known"
                + (lacks.isEmpty()
                        ? ""
                        : "; it " + String.join(", and ", lacks)
                                + ", which the gateway does without"),
                why);
    }
}
