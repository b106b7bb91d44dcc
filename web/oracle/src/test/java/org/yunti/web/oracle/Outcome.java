package org.yunti.web.oracle;

import java.util.List;
import java.util.Map;

/**
 * Complete outcome of a page, as text that can be compared.
 *
 * @param text output
 * @param thrown exception with its causes and places, or ""
 * @param context keys and values of the context afterwards
 * @param journal events in order
 */
public record Outcome(String text, String thrown, Map<String, String> context, List<String> journal) {}
