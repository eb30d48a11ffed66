package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;
import static java.util.Objects.requireNonNullElse;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.Caller;
import io.railhead.backend.Target;
import io.railhead.cli.OneLine;
import io.railhead.cli.Sizes;
import io.railhead.cli.doctor.StoreCalls.Answer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Checks the way to one endpoint of a store: name, connection, TLS, HTTP, clock and latency. Each
 * step needs the success of the one before. Blocks, at most three seconds a step.
 */
final class EndpointCheck {
    private static final int ASKED = 5;

    private final BackendConfig backend;
    private final URI endpoint;
    private final String host;
    private final int port;
    private final List<Finding> findings = new ArrayList<>();

    EndpointCheck(BackendConfig backend, URI endpoint) {
        this.backend = backend;
        this.endpoint = endpoint;
        // A literal IPv6 address has brackets in a URI only.
        host = endpoint.getHost().replaceAll("[\\[\\]]", "");
        port = endpoint.getPort() >= 0 ? endpoint.getPort() : isTls() ? 443 : 80;
    }

    private boolean isTls() {
        return endpoint.getScheme().equals("https");
    }

    private String subject(String what) {
        return backend.name() + "/" + what;
    }

    private String setting() {
        return "backends." + backend.name() + ".endpoints";
    }

    List<Finding> run() {
        if (backend.proxy() != null) {
            // The proxy resolves and connects.
            ask(null);
            return List.copyOf(findings);
        }
        InetAddress address = resolve();
        if (address != null && connects(address) && (!isTls() || shakes(address))) {
            ask(address);
        }
        return List.copyOf(findings);
    }

    private @Nullable InetAddress resolve() {
        String why = "the gateway reaches the store by this name";
        String mend = "getent hosts " + host + "; mend the name under " + setting()
                + ", /etc/resolv.conf or the pod's dnsPolicy";
        long begun = System.nanoTime();
        FutureTask<InetAddress[]> asked = new FutureTask<>(() -> InetAddress.getAllByName(host));
        Thread.ofPlatform().daemon().name("doctor-dns").start(asked);
        try {
            InetAddress[] all = asked.get(StoreCalls.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            if (!all[0].getHostAddress().equals(host)) {
                findings.add(ok(subject("dns"), host + " is " + all[0].getHostAddress()
                        + (all.length == 1 ? "" : " and " + (all.length - 1) + " more") + ", in "
                        + Sizes.millis(System.nanoTime() - begun), why));
            }
            return all[0];
        } catch (ExecutionException e) {
            findings.add(fail(subject("dns"), e.getCause() instanceof UnknownHostException
                    ? host + " is not known to the resolver"
                    : host + ": " + OneLine.of(requireNonNullElse(e.getCause(), e)), why, mend));
        } catch (TimeoutException e) {
            findings.add(fail(subject("dns"), "the resolver does not answer for " + host
                    + " within " + StoreCalls.LIMIT.toSeconds() + " s", why, mend));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return null;
    }

    private boolean connects(InetAddress address) {
        String place = host + ":" + port;
        String why = "without a connection nothing is fetched";
        long begun = System.nanoTime();
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port),
                    (int) StoreCalls.LIMIT.toMillis());
            findings.add(ok(subject("tcp"), place + " connects in "
                    + Sizes.millis(System.nanoTime() - begun), why));
            return true;
        } catch (SocketTimeoutException e) {
            findings.add(fail(subject("tcp"), place + " does not answer within "
                    + StoreCalls.LIMIT.toSeconds() + " s", why,
                    "open the way to it in firewall,"
                            + " routes or NetworkPolicy: nc -vz " + host + " " + port));
        } catch (ConnectException e) {
            findings.add(fail(subject("tcp"), place + ": " + e.getMessage(), why,
                    "start the store, or mend host and port under " + setting() + ": nc -vz "
                            + host + " " + port));
        } catch (IOException e) {
            findings.add(fail(subject("tcp"), place + ": " + e.getMessage(), why,
                    "mend the route: ip route get " + address.getHostAddress()));
        }
        return false;
    }

    private boolean shakes(InetAddress address) {
        String why = "the gateway trusts a store by its certificate only";
        TlsCheck.Result result;
        try {
            result = new TlsCheck(backend.ca()).shake(address, host, port);
        } catch (IllegalArgumentException e) {
            findings.add(fail(subject("tls"), String.valueOf(e.getMessage()), why,
                    "name a PEM file of certificates under backends." + backend.name() + ".ca"));
            return false;
        }
        if (result.fault() == TlsCheck.Fault.NONE) {
            X509Certificate own = result.chain().getFirst();
            findings.add(trusted(own, result, why));
            return true;
        }
        findings.add(fail(subject("tls"), fault(result), why, mend(result)));
        return false;
    }

    /**
     * Returns the finding for a trusted certificate. One that is configured as its own authority is
     * trusted even after its expiry.
     */
    private Finding trusted(X509Certificate own, TlsCheck.Result result, String why) {
        String found = result.words() + " with " + host + " in " + Sizes.millis(result.nanos())
                + ", its certificate " + (Certificates.isExpired(own) ? "was" : "is") + " good "
                + Certificates.end(own);
        return Certificates.endsSoon(own)
                ? warn(subject("tls"), found, "once it has expired, nothing is fetched",
                        "renew the store's certificate")
                : ok(subject("tls"), found, why);
    }

    private String fault(TlsCheck.Result result) {
        return switch (result.fault()) {
            case EXPIRED -> "the certificate of " + host + " was good "
                    + Certificates.end(result.chain().getFirst());
            case NOT_YET -> "the certificate of " + host + " is not good yet";
            case UNTRUSTED -> "no trusted authority issued the certificate of " + host
                    + ": its issuer is " + Certificates.issuer(result.chain().getLast());
            case OTHER_NAME -> "the certificate is for "
                    + Certificates.names(result.chain().getFirst()) + ", not for " + host;
            case NOT_TLS -> host + ":" + port + " does not speak TLS";
            case OTHER, NONE -> "no handshake with " + host + ": " + result.words();
        };
    }

    private String mend(TlsCheck.Result result) {
        String show = "openssl s_client -connect " + host + ":" + port + " -servername " + host;
        return switch (result.fault()) {
            case EXPIRED -> "renew the store's certificate; if it is good, this machine's clock is"
                    + " wrong: timedatectl";
            case NOT_YET -> "set this machine's clock: timedatectl";
            case UNTRUSTED -> "name the PEM file of its authority under backends."
                    + backend.name() + ".ca; " + show + " -showcerts shows it";
            case OTHER_NAME -> "name the store as its certificate does under " + setting()
                    + ", or have a certificate for " + host;
            case NOT_TLS -> "write http:// instead of https:// under " + setting()
                    + ", or mend the port";
            case OTHER, NONE -> show;
        };
    }

    private void ask(@Nullable InetAddress address) {
        List<Answer> answers = new ArrayList<>();
        try (StoreCalls calls = new StoreCalls(backend, List.of(endpoint))) {
            for (int i = 0; i < ASKED; i++) {
                Answer answer = calls.head(new Target(null, "", null), new Caller.Anonymous());
                if (answer.status() >= 500) {
                    findings.add(fail(subject("http"), endpoint + " answers "
                            + answer.status(), "the store itself is not well",
                            "look at the store's own log; curl -i " + endpoint));
                    return;
                }
                answers.add(answer);
            }
        } catch (BackendException | IllegalArgumentException e) {
            findings.add(notHttp(address, String.valueOf(e.getMessage())));
            return;
        }
        if (!isTls() && answers.getFirst().status() == 400 && speaksTls(address)) {
            findings.add(cleartextToTls());
            return;
        }
        findings.add(Latency.finding(subject("latency"), endpoint.toString(), answers));
        findings.add(Clocks.finding(subject("clock"), host, answers));
    }

    private Finding notHttp(@Nullable InetAddress address, String message) {
        return !isTls() && speaksTls(address)
                ? cleartextToTls()
                : fail(subject("http"), endpoint + ": " + message,
                        "the gateway speaks HTTP/1.1 with a store", "curl -i " + endpoint
                                + "; mend the port under " + setting());
    }

    private Finding cleartextToTls() {
        return fail(subject("tls"), host + ":" + port + " speaks TLS, the configuration does not",
                "the store refuses requests in the clear",
                "write https:// instead of http:// under " + setting());
    }

    private boolean speaksTls(@Nullable InetAddress address) {
        return address != null && !new TlsCheck(null).shake(address, host, port).chain().isEmpty();
    }
}
