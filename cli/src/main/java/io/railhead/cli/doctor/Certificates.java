package io.railhead.cli.doctor;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Describes a certificate in words. */
final class Certificates {
    /** The warning time before an expiry: renewals fail silently. */
    private static final Duration SOON = Duration.ofDays(14);

    private Certificates() {}

    static boolean isExpired(X509Certificate certificate) {
        return certificate.getNotAfter().toInstant().isBefore(Instant.now());
    }

    static boolean endsSoon(X509Certificate certificate) {
        return certificate.getNotAfter().toInstant().isBefore(Instant.now().plus(SOON));
    }

    /** Returns text such as "until 2027-01-31". */
    static String end(X509Certificate certificate) {
        return "until " + certificate.getNotAfter()
                .toInstant()
                .atZone(ZoneOffset.UTC)
                .toLocalDate();
    }

    /** Returns the alternative names; the subject if there are none. */
    static String names(X509Certificate certificate) {
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            if (names != null) {
                return names.stream()
                        .map(name -> String.valueOf(name.get(1)))
                        .collect(Collectors.joining(", "));
            }
        } catch (CertificateParsingException e) {
            return "unreadable names";
        }
        return certificate.getSubjectX500Principal().getName() + " without alternative names";
    }

    static String issuer(X509Certificate certificate) {
        return certificate.getIssuerX500Principal().getName();
    }
}
