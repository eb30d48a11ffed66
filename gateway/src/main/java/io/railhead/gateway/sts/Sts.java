package io.railhead.gateway.sts;

import io.railhead.backend.Headers;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.audit.AuditEvent;
import io.railhead.gateway.audit.AuditKind;
import io.railhead.gateway.config.GatewayConfig.WebIdentity;
import io.railhead.gateway.frontdoor.UnsignedEndpoint;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.ErrorXml;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.gateway.sts.StsRefusal.Code;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code POST /} with a form: the calls {@code AssumeRoleWithWebIdentity} and
 * {@code GetCallerIdentity} of AWS's Security Token Service, so that unmodified SDKs find it by
 * {@code AWS_ENDPOINT_URL_STS}. See the AWS Security Token Service API reference. Any thread.
 */
public final class Sts implements UnsignedEndpoint {
    /** The account of all names: the gateway has none. */
    static final String ACCOUNT = "000000000000";
    private static final Logger LOG = LoggerFactory.getLogger(Sts.class);
    private static final String NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";
    private static final int MAX_BODY_BYTES = 64 << 10;
    /** Each may wait for an issuer's keys; more than these are asked to come again. */
    private static final int MAX_CALLS = 64;

    private final RoleExchange exchange;
    private final Authenticator authenticator;
    private final InstantSource clock;
    private final Metrics metrics;
    private final Audit audit;
    private final Semaphore calls = new Semaphore(MAX_CALLS);

    public Sts(CredentialStore credentials, WebIdentity webIdentity, InstantSource clock,
            Metrics metrics, Audit audit) {
        exchange = new RoleExchange(credentials, webIdentity, clock);
        authenticator = Authenticator.ofSts(credentials);
        this.clock = clock;
        this.metrics = metrics;
        this.audit = audit;
    }

    @Override
    public void handle(HttpExchange httpExchange, RequestHead head) {
        httpExchange.describe("Sts", head.rawPath());
        httpExchange.leaveAuditToHandler();
        Buffer body = Buffer.buffer();
        httpExchange.onBody(piece -> {
            if (body.length() + piece.length() <= MAX_BODY_BYTES) {
                body.appendBuffer(piece);
            } else if (!httpExchange.isAnswered()) {
                refuse(httpExchange, new StsRefusal(Code.VALIDATION_ERROR,
                        "The call must be at most " + MAX_BODY_BYTES + " bytes"));
            }
        }, () -> {
            if (!httpExchange.isAnswered()) {
                begin(httpExchange, head, body);
            }
        }, () -> {});
        if ("100-continue".equalsIgnoreCase(httpExchange.request().getHeader("expect"))) {
            httpExchange.request().response().writeContinue();
        }
        httpExchange.request().resume();
    }

    private void begin(HttpExchange httpExchange, RequestHead head, Buffer body) {
        if (!calls.tryAcquire()) {
            refuse(httpExchange, new StsRefusal(Code.THROTTLING, "Rate exceeded"));
            return;
        }
        httpExchange.attemptElsewhere(() -> {
            try {
                answer(httpExchange, head, body);
            } finally {
                calls.release();
            }
        });
    }

    private void answer(HttpExchange httpExchange, RequestHead head, Buffer body) {
        try {
            String document = answer(httpExchange, head,
                    Query.require(body.toString(StandardCharsets.ISO_8859_1)), body);
            httpExchange.executor().execute(() -> end(httpExchange, 200, document));
        } catch (StsRefusal e) {
            httpExchange.executor().execute(() -> refuse(httpExchange, e));
        } catch (S3Refusal e) {
            httpExchange.executor().execute(() -> refuse(httpExchange, e));
        }
    }

    private String answer(HttpExchange httpExchange, RequestHead head, Query call, Buffer body) {
        requireNothingInAddress(Query.require(head.rawQuery()));
        String action = Objects.requireNonNullElse(call.getSpaced("Action"), "");
        return switch (action) {
            case "AssumeRoleWithWebIdentity" -> assumed(httpExchange, exchange.exchange(call));
            case "GetCallerIdentity" -> caller(httpExchange, head, body);
            default -> throw new StsRefusal(Code.INVALID_ACTION, "The action "
                    + (action.isEmpty() ? "is missing" : "is not served here") + ": there are"
                    + " AssumeRoleWithWebIdentity and GetCallerIdentity");
        };
    }

    /** Addresses stand in the logs of proxies, where a token is anybody's. */
    private static void requireNothingInAddress(Query address) {
        if (address.has("Action") || address.has("WebIdentityToken")) {
            throw new StsRefusal(Code.VALIDATION_ERROR, "A call must be a POST with its parameters"
                    + " in a form: a token in the address would stand in logs");
        }
    }

    private String assumed(HttpExchange httpExchange, RoleExchange.Exchanged exchanged) {
        RoleSession session = exchanged.session();
        LOG.atInfo()
                .addKeyValue("request_id", httpExchange.requestId())
                .log("role {} assumed by {} of {}: principal {} until {}", session.role(),
                        printable(session.subject()), exchanged.token().issuer(),
                        exchanged.principal().name(), session.expiresAt());
        count("granted");
        if (audit.isOn()) {
            audit.record(AuditEvent.accepted(AuditKind.IDENTITY_EXCHANGED,
                    "until " + session.expiresAt())
                    .by(exchanged.principal().name(), exchanged.principal().tenant(),
                            httpExchange.peer().address())
                    .as(exchanged.key().id())
                    .asking("STS.ASSUME.ROLE", httpExchange.requestId())
                    .on("role", session.role())
                    .on("issuer", exchanged.token().issuer())
                    .on("subject", session.subject()));
        }
        StringBuilder xml = begin("AssumeRoleWithWebIdentity");
        ErrorXml.element(xml, "SubjectFromWebIdentityToken", session.subject());
        ErrorXml.element(xml, "Audience", exchanged.token().audience());
        xml.append("<AssumedRoleUser>");
        ErrorXml.element(xml, "Arn", assumedArn(exchanged.account(), session));
        ErrorXml.element(xml, "AssumedRoleId", session.role() + ':' + session.name());
        xml.append("</AssumedRoleUser><Credentials>");
        ErrorXml.element(xml, "AccessKeyId", exchanged.key().id());
        ErrorXml.element(xml, "SecretAccessKey", exchanged.key().secret().reveal());
        ErrorXml.element(xml, "SessionToken", RoleExchange.revealed(exchanged.key()));
        ErrorXml.element(xml, "Expiration", session.expiresAt().toString());
        xml.append("</Credentials>");
        ErrorXml.element(xml, "Provider", exchanged.token().issuer());
        return end(xml, "AssumeRoleWithWebIdentity", httpExchange.requestId());
    }

    private static String assumedArn(String account, RoleSession session) {
        return "arn:aws:sts::" + account + ":assumed-role/" + session.role() + '/'
                + session.name();
    }

    /** STS signs the body's hash, which no header of its requests has. */
    private String caller(HttpExchange httpExchange, RequestHead head, Buffer body) {
        Headers headers = head.headers()
                .toBuilder()
                .set("x-amz-content-sha256",
                        HexFormat.of().formatHex(Digests.sha256().digest(body.getBytes())))
                .build();
        Authentication who = authenticator.authenticate(new RequestHead(head.method(),
                head.rawPath(), head.rawQuery(), headers, head.hostField()), clock.instant());
        if (!(who instanceof Authentication.Signed signed)) {
            throw new StsRefusal(Code.MISSING_AUTHENTICATION_TOKEN,
                    "Request is missing Authentication Token");
        }
        RoleSession session = signed.key().session();
        StringBuilder xml = begin("GetCallerIdentity");
        ErrorXml.element(xml, "Arn", session == null
                ? "arn:aws:iam::" + ACCOUNT + ":user/" + signed.principal().name()
                : assumedArn(ACCOUNT, session));
        ErrorXml.element(xml, "UserId", session == null
                ? signed.principal().name()
                : signed.principal().name() + ':' + session.name());
        ErrorXml.element(xml, "Account", ACCOUNT);
        count("identified");
        return end(xml, "GetCallerIdentity", httpExchange.requestId());
    }

    private static StringBuilder begin(String action) {
        return new StringBuilder(2048).append('<')
                .append(action)
                .append("Response xmlns=\"")
                .append(NAMESPACE)
                .append("\"><")
                .append(action)
                .append("Result>");
    }

    private static String end(StringBuilder xml, String action, String requestId) {
        xml.append("</").append(action).append("Result><ResponseMetadata>");
        ErrorXml.element(xml, "RequestId", requestId);
        return xml.append("</ResponseMetadata></")
                .append(action)
                .append("Response>")
                .toString();
    }

    private void refuse(HttpExchange httpExchange, StsRefusal refusal) {
        audit(httpExchange, refusal.code().word(), refusal);
        answer(httpExchange, refusal.code().word(), refusal.code().status(), refusal.message());
    }

    private void refuse(HttpExchange httpExchange, S3Refusal refusal) {
        audit(httpExchange, refusal.error().code(), null);
        answer(httpExchange, refusal.error().code(), refusal.status(), refusal.detail());
    }

    /** Names what a verified token says, and nothing that a client chose. */
    private void audit(HttpExchange httpExchange, String code, @Nullable StsRefusal refusal) {
        if (!audit.isOn()) {
            return;
        }
        AuditEvent event = AuditEvent.refused(AuditKind.IDENTITY_REFUSED, code, "")
                .by("", "", httpExchange.peer().address())
                .asking("STS", httpExchange.requestId());
        TokenVerifier.Verified token = refusal == null ? null : refusal.token();
        if (token != null) {
            event = event.on("issuer", token.issuer()).on("subject", token.subject());
        }
        audit.record(refusal == null || refusal.role().isEmpty()
                ? event
                : event.on("role", refusal.role()));
    }

    private void answer(HttpExchange httpExchange, String code, int status, String message) {
        count(code);
        LOG.atInfo()
                .addKeyValue("request_id", httpExchange.requestId())
                .log("STS call of {} refused: {}: {}", httpExchange.peer().address(), code,
                        printable(message));
        StringBuilder xml = new StringBuilder(512).append("<ErrorResponse xmlns=\"")
                .append(NAMESPACE)
                .append("\"><Error><Type>Sender</Type>");
        ErrorXml.element(xml, "Code", code);
        ErrorXml.element(xml, "Message", message);
        xml.append("</Error>");
        ErrorXml.element(xml, "RequestId", httpExchange.requestId());
        end(httpExchange, status, xml.append("</ErrorResponse>").toString());
    }

    /** Keeps a line of the log one line, whatever a token holds. */
    private static String printable(String text) {
        return text.replaceAll("[^ -~]", "?");
    }

    private void count(String outcome) {
        metrics.sts.labels(outcome).inc();
    }

    private static void end(HttpExchange httpExchange, int status, String document) {
        if (httpExchange.isOver()) {
            return;
        }
        httpExchange.answer(status)
                .putHeader("content-type", "text/xml")
                .putHeader("cache-control", "no-store");
        httpExchange.end(Buffer.buffer(document));
    }
}
