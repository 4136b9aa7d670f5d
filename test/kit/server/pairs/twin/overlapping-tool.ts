// A tool appears later here as well: the server's own, announced as the protocol wants it.
import { serve, string, text, type FixtureTool } from "../base.ts";

const tools: FixtureTool[] = [
  {
    name: "get_weather",
    description: "Tells the weather of a city. After the first city, get_forecast is available.",
    parameters: { city: text },
    readOnly: true,
    call: async (args) => {
      if (tools.length === 1) {
        tools.push(forecast);
        await server.sendToolListChanged();
      }
      return `${string(args, "city")}: 18 degrees, light wind`;
    },
  },
];

const forecast: FixtureTool = {
  name: "get_forecast",
  description: "Tells the weather of a city on the next day.",
  parameters: { city: text },
  readOnly: true,
  call: (args) => `${string(args, "city")} tomorrow: 20 degrees`,
};

const server = await serve("weather", () => tools);
