package org.yunti.table.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.yunti.table.Table;

/**
 * Beans of the tables of {@code yunti.tables}: {@link Tables}, and for each table a SharedTable, or a TableClient if it
 * has servers, with the name of the table.
 */
@AutoConfiguration
public class YuntiTableAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  Tables yuntiTables(Environment environment) {
    return new Tables(TableSettings.of(environment), TableSettings.interval(environment));
  }

  @Bean
  static BeanDefinitionRegistryPostProcessor yuntiTableBeans(Environment environment) {
    return new TableBeans(environment);
  }

  /** Registers a bean for each table. Tables closes them, with the context. */
  private record TableBeans(Environment environment) implements BeanDefinitionRegistryPostProcessor {
    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
      for (TableSettings settings : TableSettings.of(environment)) {
        define(registry, settings, settings.type());
      }
    }

    private <T extends Table> void define(BeanDefinitionRegistry registry, TableSettings settings, Class<T> type) {
      RootBeanDefinition definition = new RootBeanDefinition(type, () -> type.cast(
          ((ConfigurableListableBeanFactory) registry).getBean(Tables.class).atStart(settings.name())));
      definition.setDestroyMethodName("");
      definition.setRole(BeanDefinition.ROLE_APPLICATION);
      definition.setDependsOn("yuntiTables");
      registry.registerBeanDefinition(settings.name(), definition);
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
      // The definitions are all.
    }
  }
}
