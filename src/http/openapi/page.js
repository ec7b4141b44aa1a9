// The page at /docs. It shows /openapi.json of its own deployment, and sends its requests to that deployment.
window.SwaggerUIBundle({
  url: '/openapi.json',
  domNode: document.getElementById('docs'),
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  supportedSubmitMethods: ['get', 'post'],
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // otherwise the URL of the document is sent to another service
  // The browser does not store a token.
  persistAuthorization: false,
})
