package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Accounting;
import java.math.BigDecimal;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads {@code accounting:}. */
final class AccountingLoader {
    private static final int DEFAULT_ROWS = 2000;
    private static final int LEAST_ROWS = 10;
    private static final int MOST_ROWS = 100_000;
    private static final BigDecimal MOST = BigDecimal.valueOf(1_000_000);
    private static final Pattern CURRENCY = Pattern.compile("[A-Za-z]{1,16}");

    private AccountingLoader() {}

    static Accounting load(Section section) throws ConfigException {
        Accounting accounting = new Accounting(
                section.count("rows", DEFAULT_ROWS, LEAST_ROWS, MOST_ROWS),
                section.has("prices") ? prices(section.section("prices")) : null);
        section.close();
        return accounting;
    }

    private static @Nullable Prices prices(Section section) throws ConfigException {
        Prices prices = new Prices(currency(section), price(section, "get_per_1000"),
                price(section, "put_per_1000"), price(section, "egress_per_gib"));
        section.close();
        return prices;
    }

    private static String currency(Section section) throws ConfigException {
        String currency = section.text("currency", "USD");
        if (!CURRENCY.matcher(currency).matches()) {
            throw section.problem("currency", "must be letters such as USD: " + currency);
        }
        return currency;
    }

    private static double price(Section section, String key) throws ConfigException {
        return section.value(key, "number", "0", AccountingLoader::price);
    }

    private static double price(String text) {
        try {
            BigDecimal price = new BigDecimal(text);
            if (price.signum() >= 0 && price.compareTo(MOST) <= 0) {
                return price.doubleValue();
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not a price such as 0.0004", e);
        }
        throw new IllegalArgumentException("must be 0 to " + MOST + ": " + text);
    }
}
