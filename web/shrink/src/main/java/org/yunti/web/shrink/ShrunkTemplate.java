package org.yunti.web.shrink;

import java.util.List;

/**
 * Result for one template.
 *
 * @param name path below the folder, with /
 * @param before source
 * @param squeezed source with squeezed white space; equal to {@code before} if the step was off or not possible
 * @param after source with converted loops as well
 * @param loops number of converted loops
 * @param notes unchanged parts and the reasons, one line each
 */
public record ShrunkTemplate(String name, String before, String squeezed, String after, int loops,
    List<String> notes) {}
