package org.yunti.web.bench.page;

import java.io.IOException;
import java.io.StringReader;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.maven.doxia.site.io.xpp3.SiteXpp3Reader;
import org.apache.velocity.tools.generic.ConversionTool;
import org.apache.velocity.tools.generic.EscapeTool;
import org.codehaus.plexus.util.PathTool;
import org.codehaus.plexus.util.xml.pull.XmlPullParserException;

/**
 * Model of a site skin: a page of a Maven site in the Fluido skin, with the classes of Maven's site renderer. The skin
 * is mostly macros, which call each other recursively. Its date is left out, so two renderings are equal.
 */
final class SiteModels {
  private static final int PARAGRAPHS = 20;

  private SiteModels() {}

  @SuppressWarnings("deprecation") // the skin uses ConversionTool
  static Map<String, Object> create() {
    Map<String, Object> model = new HashMap<>();
    try {
      model.put("site", new SiteXpp3Reader().read(new StringReader(site())));
    } catch (IOException | XmlPullParserException e) {
      throw new IllegalStateException(e);
    }
    model.put("esc", new EscapeTool());
    model.put("convert", new ConversionTool());
    model.put("PathTool", new PathTool());
    model.put("text", Map.of("template.externallinks", "External Links", "template.builtby", "Built by"));
    model.put("date", Map.of("year", 2026));
    model.put("project", Map.of("name", "Warehouse", "url", "https://warehouse.example/", "inceptionYear", "2021",
        "organization", Map.of("name", "Warehouse & Sons", "url", "https://example.org/")));
    model.put("locale", Locale.ENGLISH);
    model.put("outputEncoding", "UTF-8");
    model.put("title", "Warehouse – Shelves & aisles");
    model.put("shortTitle", "Shelves");
    model.put("relativePath", ".");
    model.put("alignedFileName", "page12.html");
    model.put("authors", new String[] {"Marit Solheim", "Jon Aas"});
    model.put("bodyContent",
        "<section><h2>Shelves</h2><p>Goods are kept where they can be found.</p></section>\n".repeat(PARAGRAPHS));
    return model;
  }

  private static String site() {
    StringBuilder menus = new StringBuilder();
    for (int i = 0; i < 5; i++) {
      menus.append("<menu name='Part ").append(i).append("'>");
      for (int j = 0; j < 6; j++) {
        String link = "' href='page" + i + j;
        menus.append("<item name='Chapter ").append(j).append(link).append(".html'>");
        if (j % 3 == 0) {
          menus.append("<item name='Section").append(link).append("a.html'/><item name='Appendix").append(link)
              .append("b.html'/>");
        }
        menus.append("</item>");
      }
      menus.append("</menu>");
    }
    return "<site name='Warehouse'><bannerLeft name='Warehouse' href='index.html'/>"
        + "<publishDate position='none'/><version position='none'/>"
        + "<poweredBy><logo name='Maven' href='https://maven.apache.org/'/></poweredBy>"
        + "<body><links><item name='Shop' href='https://shop.example/'/><item name='Help' href='help.html'/></links>"
        + "<breadcrumbs><item name='Home' href='index.html'/></breadcrumbs>" + menus + "</body>"
        + "<custom><fluidoSkin><skipGenerationDate>true</skipGenerationDate>"
        + "<topBarEnabled>true</topBarEnabled></fluidoSkin></custom></site>";
  }
}
